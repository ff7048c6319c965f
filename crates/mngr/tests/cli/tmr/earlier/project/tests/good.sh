grep -qx good parts/good
