# Prints what is on a machine, one fact on a line, by looking with plain tools only.
#
# usage: sh inspect.sh HOST_DIR HOME TMUX_DIR REPOSITORY
#
# The repository may be empty. A path has no blank and no newline in it.
host=$1 home=$2 tmux=$3 repository=$4

find "$host" $repository -name .git -prune -o -name 'w-*' -type f -exec cat {} + 2>/dev/null | sed 's/^/file /'

git_dirs() {
    [ -z "$repository" ] || echo "$repository/.git"
    find "$host" -name HEAD -type f 2>/dev/null | sed 's,/HEAD$,,' | while read -r folder; do
        [ -d "$folder/objects" ] && [ -d "$folder/refs" ] && echo "$folder"
    done
}
for folder in $(git_dirs); do
    git --git-dir="$folder" rev-list --all 2>/dev/null | sed 's/^/commit /'
    git --git-dir="$folder" for-each-ref --format="ref $folder %(refname)" 2>/dev/null
    git --git-dir="$folder" worktree list --porcelain 2>/dev/null | sed -n "s,^worktree ,worktree $folder ,p"
    git --git-dir="$folder" worktree list 2>/dev/null | grep ' prunable$' | sed "s,^,prunable $folder ,"
    git --git-dir="$folder" fsck --connectivity-only --no-dangling >/tmp/chaos-fsck.$$ 2>&1 ||
        sed "s,^,fsck $folder ," /tmp/chaos-fsck.$$
    rm -f /tmp/chaos-fsck.$$
    find "$folder" -name '*.lock' ! -name 'mngr-*' 2>/dev/null | sed 's/^/lock /'
done

for kind in agents journal worktrees copies projects clones transit made making trash snapshots; do
    for entry in "$host/$kind"/* "$host/$kind"/.[!.]*; do
        [ -e "$entry" ] || [ -L "$entry" ] || continue
        echo "entry $kind ${entry##*/}"
    done
done

for socket in "$tmux"/tmux-*/*; do
    [ -S "$socket" ] || continue
    timeout 5 tmux -S "$socket" list-sessions -F 'session #{session_name}' 2>/dev/null
done

for kind in got wrote; do
    for file in "$home/$kind"/*; do
        [ -f "$file" ] && sed "s,^,$kind ${file##*/} ," "$file"
    done
done
exit 0
