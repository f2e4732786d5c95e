# install_blocks.sh, for other scripts: the commands of docs/install.md.
# Print those of the blocks with one of these words, in the order of the words.
blocks() { # words...
  for word; do awk -v fence="\`\`\`sh $word" '$0 == fence { inside = 1; next } /^```/ { inside = 0 } inside' docs/install.md; done
}
