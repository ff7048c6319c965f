# Adding appends one open line, with all words of the command line.
set -eu
. "$(dirname "$0")/helpers.sh"
trap 'rm -rf "$work"; exit 0' EXIT

todo add buy bread
todo add 'sleep  well'
equal 'open buy bread
open sleep  well' "$(cat "$file")" 'the file'
equal '2 of 2 to do' "$(todo count)" 'the count'
