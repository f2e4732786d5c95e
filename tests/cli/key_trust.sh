# Keys are made, shown and named. Files that others can read or write are refused, and no key is replaced.
export HOME="$TMPDIR/key_trust"
unset XDG_DATA_HOME
mkdir "$HOME" && cd "$HOME" || exit 9
umask 022
halotune key new my.key | sed -E 's/^[0-9a-f]{64}$/KEY/'
stat -c '%a %n' my.key my.key.pub
[ "$(halotune key show my.key)" = "$(halotune key show my.key.pub)" ] && echo "one public key"
halotune key new my.key
(umask 077 && printf 'halotune-private-key %064d\n' 0 >zero.key)
halotune key show zero.key
halotune trust list
halotune trust add alice my.key.pub
halotune trust add alice my.key.pub
halotune trust add zero@example.org "$(halotune key show zero.key)"
halotune trust add alice "$(halotune key show zero.key)"
halotune trust add bob my.key.pub
halotune trust add 'a b' my.key.pub
halotune trust add carol my.key
halotune trust add carol "$(printf '%064d' 2)"
halotune trust list | sed "s/$(halotune key show my.key)/KEY/"
halotune trust list --json | tail -n 5
halotune trust remove bob
halotune trust remove alice
halotune trust list
stat -c '%a %n' .local/share/halotune/trusted-signers
chmod 640 my.key
halotune key show my.key
chmod 666 .local/share/halotune/trusted-signers
halotune trust list 2>&1 | sed "s|$HOME|HOME|g"
chmod 600 .local/share/halotune/trusted-signers
chmod 777 .local/share/halotune
halotune trust add alice my.key.pub 2>&1 | sed "s|$HOME|HOME|g"
chmod 700 .local/share/halotune
echo "zero" >.local/share/halotune/trusted-signers
halotune trust list 2>&1 | sed "s|$HOME|HOME|g"
rm .local/share/halotune/trusted-signers
ln -s "$HOME/elsewhere" .local/share/halotune/trusted-signers
halotune trust list 2>&1 | sed "s|$HOME|HOME|g"
halotune key sign
halotune key new
halotune trust
# exit 2
