# Made by mngr while this pane is recorded. Takes everything the pane prints and puts it into files 0, 1, 2, ... beside
# this script, which the recorder reads and removes. It never waits for the recorder, because tmux would keep in memory
# what is not read here. It ends with the pane or its pipe, and when the pane prints more while $2 files are unread.
cd "$1" || exit
umask 077
number=0
while :; do
  if [ -e "$((number - $2))" ]; then
    # The recorder may catch up before the pane prints again.
    dd bs=16384 count=1 of=next 2>/dev/null || { why=failed && break; }
    [ -s next ] || { why=closed && break; }
    [ ! -e "$((number - $2))" ] || { why=full && break; }
    mv next "$number" || { why=failed && break; }
  else
    dd bs=16384 count="$3" of="$number" 2>/dev/null || { why=failed && break; }
    [ -s "$number" ] || { why=closed && break; }
  fi
  number=$((number + 1))
done
echo "$why" >end.new && mv end.new end
