halotune verify heat2d --backend cuda
# exit 2
