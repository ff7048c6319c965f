# What the tests share. Each test runs in a folder of its own.

root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
cleanup() {
    # A folder that is already gone is no failure of the test.
    rm -rf "$work" 2>/dev/null || true
    exit 0
}
trap cleanup EXIT
file=$work/things.txt

# todo WORDS...: the program on the test's own file.
todo() {
    "$root/bin/todo" "$file" "$@"
}

# die MESSAGE: the test fails.
die() {
    echo "FAILED: $1" >&2
    exit 1
}

# equal EXPECTED ACTUAL WHAT: both are the same text.
equal() {
    [ "$1" = "$2" ] || die "$3: expected '$1', got '$2'"
}

# refuses CODE MESSAGE WORDS...: it ends with that code and says that.
refuses() {
    code=$1
    message=$2
    shift 2
    actual=0
    said=$(todo "$@" 2>&1) || actual=$?
    equal "$code" "$actual" "exit code of $*"
    case $said in
    *"$message"*) ;;
    *) die "$*: expected '$message', got '$said'" ;;
    esac
}

# some_things: three things, the second of them done.
some_things() {
    printf 'open buy bread\ndone call "Mum"\nopen sleep\n' >"$file"
}
