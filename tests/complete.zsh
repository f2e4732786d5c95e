# complete.zsh FOLDER LINE: prints what zsh offers when Control-D is pressed behind LINE, with the functions in FOLDER. zsh
# completes in its line editor only, so a zsh in a pseudo-terminal is typed at.
setopt extendedglob
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT= fpath=(${(q)1} \$fpath); autoload -Uz compinit; compinit -D -u; LISTMAX=10000; unsetopt beep; stty columns 200; print -r READY''NOW"
zpty -r shell line $'*READYNOW*\e\\[\\?2004h*' # the last is written when the editor begins to read
zpty -w -n shell "$2"$'\C-d\C-a\C-k'"print -r END''NOW"$'\n'
text=
while zpty -r shell line; do
  text+=$line
  [[ $line == *ENDNOW* ]] && break
done
print -r -- ${${text//$'\r'/}//$'\e'\[[0-9;?]#[A-Za-z]/ }
