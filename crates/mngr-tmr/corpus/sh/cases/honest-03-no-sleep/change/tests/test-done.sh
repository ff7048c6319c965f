# Marking one as done changes that line and no other.
set -eu
. "$(dirname "$0")/helpers.sh"

some_things
todo done 3
equal 'open buy bread
done call "Mum"
done sleep' "$(cat "$file")" 'the file'
todo done 1
equal 'all 3 done' "$(todo count)" 'the count'
