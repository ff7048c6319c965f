grep -qx good parts/late
