grep -qx good parts/liar
