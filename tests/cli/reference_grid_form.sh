for grid in ' 8,+8,8' '8,8,8,' '8,,8' '0,8,8' '8,-8,8' '2147483649,1,1' '99999999999999999999,1,1' '65536,65536,65536'; do
  halotune reference star7 --grid "$grid" && exit
done
halotune reference derivative_x --grid 1,20000,20000
# exit 2
