# In a folder of all users somebody else could make ./templates and ./kernels. They are not searched without being named.
# A pipe where a template is looked for is refused, and not waited for.
repository=$PWD
mkdir -p "$TMPDIR/shared/templates" "$TMPDIR/shared/kernels" && cd "$TMPDIR/shared" || exit 9
sed 's/0\.4/0.5/' "$repository/kernels/star7.yaml" >kernels/star7.yaml
cp "$repository/templates/direct.yaml" templates
sed 's|__global__|__global__ /* foreign */|' "$repository/templates/direct.cu" >templates/direct.cu
HALOTUNE_PATH=$repository/kernels HALOTUNE_TEMPLATE_PATH=$repository/templates
export HALOTUNE_PATH HALOTUNE_TEMPLATE_PATH
find_words() { # how often the foreign words are in the source
  halotune generate star7 --dtype f32 --template direct --set coefficients=literal >source
  grep -c -e foreign -e '0\.5' source
}
echo '--- writable for all' && chmod 777 templates kernels && find_words
echo '--- writable for the owner' && chmod 755 templates kernels && find_words
echo '--- the same, as halotune_tune starts the program, then named' && (
  export HALOTUNE_SEARCH=installed
  find_words
  HALOTUNE_PATH=./kernels find_words
)
echo '--- files in it that all may write to' && for file in kernels/star7.yaml templates/direct.yaml templates/direct.cu; do
  chmod 666 $file && find_words && chmod 644 $file
done
chmod 666 templates/direct.cu && HALOTUNE_TEMPLATE_PATH=$TMPDIR/shared/other:$repository/templates && mkdir other && cp templates/direct.* other
chmod 666 other/direct.cu && find_words && chmod 644 templates/direct.cu && rm -r other
echo '--- the same, told once in a command, and used where it is named' && chmod 666 templates/direct.cu
halotune list templates >list
HALOTUNE_TEMPLATE_PATH=templates:$repository/templates find_words && chmod 644 templates/direct.cu && rm list
echo '--- a program in a folder of its own, then in a build tree that all may write to, then in one that is its own'
mkdir -p beside/templates beside/build && cp "$(command -v halotune)" beside && cp beside/halotune beside/build
(cd "$repository" && halotune db import --trust --yes --db "$TMPDIR/shared/beside/starter.db" tests/data/db/copy.json) >/dev/null 2>&1
HOME=$TMPDIR/none beside/halotune doctor | grep -c beside/starter.db
mv beside/starter.db beside/build
for mode in 1777 755; do
  chmod $mode beside/build && HOME=$TMPDIR/none beside/build/halotune doctor | grep -c beside/build/starter.db
done
echo '--- a plug-in for MPI beside the program, then in a build tree that all may write to, then in one that is its own'
find_plugin() { OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 HOME=$TMPDIR/none "$1" tune star7 2>&1 | grep -o 'is not installed\|it is not loaded\|cannot be loaded'; }
mkdir -p beside/mpi/openmpi && echo 'no code' >beside/mpi/openmpi/libhalotune-mpi.so && find_plugin beside/halotune
mv beside/mpi beside/build
for mode in 1777 755; do chmod $mode beside/build && find_plugin beside/build/halotune; done
mkdir 'out;exit' && cp -r beside/build beside/templates 'out;exit' && chmod 1777 'out;exit/build'
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 HOME=$TMPDIR/none 'out;exit/build/halotune' tune star7 2>&1 | grep -o 'HALOTUNE_MPI=.*' | sed "s|$TMPDIR|FOLDER|"
rm -r 'out;exit'
echo '--- share/halotune beside the folder of a program that was unpacked, then of one that was installed'
mkdir -p beside/tool beside/bin beside/share/halotune && mv beside/halotune beside/tool && mv beside/build/halotune beside/bin && mv beside/build/starter.db beside/share/halotune
for folder in tool bin; do HOME=$TMPDIR/none beside/$folder/halotune doctor | grep -c beside/share/halotune/starter.db; done
echo '--- a plug-in around a folder bin that was unpacked alone, then around an installation'
mkdir -p alone/lib/halotune/openmpi alone/bin && cp beside/build/mpi/openmpi/libhalotune-mpi.so alone/lib/halotune/openmpi && mv beside/bin/halotune alone/bin && find_plugin alone/bin/halotune
mkdir -p alone/share/halotune && find_plugin alone/bin/halotune
echo '--- a pipe' && rm templates/direct.cu && mkfifo templates/direct.cu && halotune generate star7 --template direct
# exit 1
