# Runs a test. While there is a file `hold`, one that meets a mutant of the program does not end: it writes the mutant to
# where its checkout is, again and again, until it is told to go on or ended.
# usage: gate.sh TEST
is_mutant() {
    for file in one two; do
        cmp -s "src/$file.sh" "$STAGE/src/$file.sh" || grep -q -e 'exit 97' -e mngr_ "src/$file.sh" || return 0
    done
    return 1
}
if [ -e "$STAGE/hold" ] && is_mutant; then
    here=$(pwd)
    copy=$STAGE/mutants/$$
    mkdir -p "$copy"
    cp -R src "$copy/"
    # Whoever waits for it finds it whole.
    echo "$here" >"$copy/place"
    mv "$copy" "$STAGE/held/$$"
    until [ -e "$STAGE/go" ]; do
        mkdir -p "$here" && cp -R "$STAGE/held/$$/src" "$here/"
        sleep 0.02
    done 2>/dev/null
fi
exec sh "$1"
