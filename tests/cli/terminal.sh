# On a terminal lines are folded between words, and a variant shows what differs from the defaults.
on_terminal() { # columns command
  TERM=xterm script -qec "stty cols $1; $2" /dev/null </dev/null | tr -d '\r' | grep -vE ' launches in |combinations a second' | cat -v
}
on_terminal 60 'halotune help generate; halotune space copy --template scan'
on_terminal 60 'halotune space copy --template direct | cat' | grep -m 1 unless
on_terminal 60 'halotune verify copy --template direct --set block_x=64,vector=4 2>/dev/null'
on_terminal 60 'halotune verify copy --template direct --set block_x=64,vector=4 --long 2>/dev/null'
on_terminal 60 'halotune show nosuch; NO_COLOR=1 halotune show nosuch; halotune show nosuch --color never'
on_terminal 40 'halotune show copy --json | head -3; halotune show copy --json' | tail -n 3
# a name that is too long for its column has a line of its own
on_terminal 80 'halotune list gpus' | grep -A 1 'PRO 6000'
# output that goes elsewhere is not folded
halotune show nosuch --color always 2>&1 | cat -v
halotune show copy --color=red
# exit 2
