# Made by mngr while this pane is recorded. Takes everything the pane prints and puts it into files 0, 1, 2, ... beside
# this script, which the recorder reads and removes. It never waits for the recorder, because tmux would keep in memory
# what is not read here. When too many files are unread, it ends; so it does when the pane does.
cd "$1" || exit
umask 077
number=0
while dd bs=16384 count="$3" of="$number" 2>/dev/null && [ -s "$number" ]; do
  number=$((number + 1))
  [ -e "$((number - $2))" ] && break
done
: >end
