# shellcheck shell=sh
# Running the test, and keeping what it showed.

# try NAME: runs the test. Its transcript and a recording of it become artifacts. Fails if the test does.
try() {
    kept=$DESK/artifacts/$1
    mkdir -p "$kept"
    status=0
    sh "$MNGR_TMR_TASK" >"$kept/transcript.txt" 2>&1 || status=$?
    sed -n '/^#/!q; s/^# \{0,1\}//p' "$MNGR_TMR_TASK" >"$kept/docstring.txt"
    recording "$kept/transcript.txt" >"$kept/terminal.cast"
    echo "$1: the test ended with $status"
    return "$status"
}

# recording FILE: an asciicast that types the lines of a file, five in a second.
recording() {
    echo '{"version": 2, "width": 80, "height": 24}'
    sed 's/\\/\\\\/g; s/"/\\"/g' "$1" |
        awk '{ printf "[%.1f, \"o\", \"%s\\r\\n\"]\n", NR / 5, $0 }'
}
