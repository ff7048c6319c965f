# A file that is missing or is something else is refused by every command that reads it.
set -eu
. "$(dirname "$0")/helpers.sh"

# The commands that read, from the program itself, so that none is forgotten.
reading=$(sed -n 's/^    \(list\|count\|export\))$/\1/p' "$root/bin/todo")
for verb in $reading; do
    refuses 1 'no such file' "$verb"
done
echo 'dear diary' >"$file"
for verb in $reading; do
    refuses 1 'not a list of things to do' "$verb"
done
equal 'dear diary' "$(cat "$file")" 'the file'
