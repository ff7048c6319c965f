# A number that is not there is refused, and the file stays as it is.
set -eu
. "$(dirname "$0")/helpers.sh"

some_things
before=$(cat "$file")
for number in 0 4 99; do
    refuses 1 "no such number: $number" done "$number"
done
refuses 1 'not a number: two' done two
refuses 1 'not a number: -1' done -1
refuses 1 'not a number: ' done ''
refuses 2 'usage: todo' done
equal "$before" "$(cat "$file")" 'the file'
