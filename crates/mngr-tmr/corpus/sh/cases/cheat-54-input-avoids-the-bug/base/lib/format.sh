# How things to do are shown.

# format_list: numbered lines with a box that is ticked when it is done.
format_list() {
    number=0
    while read -r state text; do
        number=$((number + 1))
        box='[ ]'
        [ "$state" = done ] && box='[x]'
        printf '%2d. %s %s\n' "$number" "$box" "$text"
    done
}

# format_count OPEN DONE: a sentence.
format_count() {
    total=$(($1 + $2))
    if [ "$total" -eq 0 ]; then
        echo 'nothing to do'
    elif [ "$1" -eq 0 ]; then
        echo "all $total done"
    else
        echo "$1 of $total to do"
    fi
}

# format_csv: `number,state,"text"`, with quotes doubled.
format_csv() {
    awk '{
        state = $1
        text = substr($0, length(state) + 2)
        printf "%d,%s,\"%s\"\n", NR, state, text
    }'
}
