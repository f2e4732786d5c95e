for grid in ' 8,+8,8' '8,8,8,' '8,,8' '0,8,8' '8,-8,8' '2147483649,1,1' '99999999999999999999,1,1' '65536,65536,65536'; do
  halotune reference star7 --grid "$grid" && exit
done
halotune reference derivative_x --grid 1,20000,20000
halotune space star7 --template direct --grid 64x64x64 2>/dev/null | grep -o 'on [0-9x]* points'
halotune space copy --template direct --grid 64x1
# exit 2
