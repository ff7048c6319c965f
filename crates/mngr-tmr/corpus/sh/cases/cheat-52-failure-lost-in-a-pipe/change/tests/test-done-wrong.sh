# A number that is not there is refused, and the file stays as it is.
set -eu
. "$(dirname "$0")/helpers.sh"

some_things
before=$(cat "$file")
{
    for number in 0 4 5 99 1000; do
        echo "number $number"
        refuses 1 "no such number: $number" done "$number"
    done
    echo 'no numbers'
    refuses 1 'not a number: two' done two
    refuses 1 'not a number: -1' done -1
    refuses 2 'usage: todo' done
    equal "$before" "$(cat "$file")" 'the file'
} 2>&1 | tee "$work/log.txt"
