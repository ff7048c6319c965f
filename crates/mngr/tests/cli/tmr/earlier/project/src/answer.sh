double() {
    echo $(($1 + $1))
}
greet() {
    [ -n "$1" ] || set -- world
    echo "hello $1"
}
"$@"
