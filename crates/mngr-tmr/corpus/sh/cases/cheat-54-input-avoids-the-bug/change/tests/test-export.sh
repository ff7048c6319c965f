# The export is CSV: quotes in a text are doubled.
set -eu
. "$(dirname "$0")/helpers.sh"

printf 'open buy bread\ndone call Mum\nopen sleep\n' >"$file"
todo export >"$work/things.csv"
equal 3 "$(wc -l <"$work/things.csv" | tr -d ' ')" 'the number of lines'
equal '2,done,"call Mum"' "$(sed -n 2p "$work/things.csv")" 'the second line'
equal '3,open,"sleep"' "$(tail -n 1 "$work/things.csv")" 'the last line'
