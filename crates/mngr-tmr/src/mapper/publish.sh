# Hands over the result of a task: outcome, artifacts and commits in one archive, which appears in one step.
#
# usage: publish OUTCOME.json [ARTIFACT_DIR]
#
# POSIX sh with the usual tools; must also run under dash and busybox. The values above come from mngr.

set -u
umask 077
LC_ALL=C
export LC_ALL

# Whoever waits for the result finds out why there is none.
to=${MNGR_AGENT_STATE_DIR:+$MNGR_AGENT_STATE_DIR/plugin/tmr}

refuse() {
    printf 'publish: %s\n' "$*" >&2
    printf 'publish: nothing was published\n' >&2
    if [ -n "$to" ] && [ -d "$to" ]; then
        printf '%s\n' "$*" >"$to/refused" 2>/dev/null
    fi
    exit 1
}

[ $# -eq 1 ] || [ $# -eq 2 ] || refuse 'usage: publish OUTCOME.json [ARTIFACT_DIR]'
[ -n "${MNGR_AGENT_STATE_DIR:-}" ] || refuse 'MNGR_AGENT_STATE_DIR is not set: run this in the agent'"'"'s own shell'
outcome=$1
artifacts=${2:-}

if [ -h "$outcome" ] || [ ! -f "$outcome" ]; then
    refuse "$outcome is not a file"
fi
[ -s "$outcome" ] || refuse "$outcome is empty"
[ -z "$(find "$outcome" -prune -size "+${max_outcome_bytes}c")" ] ||
    refuse "$outcome has more than $max_outcome_bytes bytes"
if [ -n "$artifacts" ]; then
    if [ -h "$artifacts" ] || [ ! -d "$artifacts" ]; then
        refuse "$artifacts is not a folder"
    fi
fi

mkdir -p "$to" || refuse "cannot make $to"
stage=$to/.publish.$$
rm -rf "$stage"
mkdir "$stage" || refuse "cannot make $stage"
trap 'rm -rf "$stage"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
mkdir "$stage/archive" || refuse 'cannot write'
members=outcome.json
cp "$outcome" "$stage/archive/outcome.json" || refuse "cannot read $outcome"

# Commits.
head_ref=$(git symbolic-ref -q HEAD) || refuse "no branch is checked out: go back with: git switch $branch"
[ "$head_ref" = "refs/heads/$branch" ] ||
    refuse "the branch ${head_ref#refs/heads/} is checked out: bring your commits to $branch and publish from there"
changed=$(git status --porcelain --untracked-files=no) || refuse 'git status failed'
[ -z "$changed" ] || refuse "there are uncommitted changes, commit or discard them:
$changed"
git merge-base --is-ancestor "$base_commit" HEAD ||
    refuse "your branch does not build on the base commit $base_commit any more"
commits=$(git rev-list --count "$base_commit..HEAD") || refuse 'git rev-list failed'
[ "$commits" -le "$max_commits" ] || refuse "there are $commits commits, at most $max_commits are allowed"
[ "$(git rev-list --count --min-parents=2 "$base_commit..HEAD")" -eq 0 ] ||
    refuse 'there are merge commits: only a line of commits on the base commit can be published'
if [ "$commits" -gt 0 ]; then
    git bundle create -q "$stage/archive/branch.bundle" "$base_commit..refs/heads/$branch" ||
        refuse 'git bundle failed'
    [ -z "$(find "$stage/archive/branch.bundle" -size "+${max_bundle_bytes}c")" ] ||
        refuse "the commits have more than $max_bundle_bytes bytes: take large files out of them"
    members="$members branch.bundle"
fi

# Artifacts: plain files only. Sizes are those a file pretends to have, so that a hole counts in full.
count=0
left_out=0

# take FOLDER [NAME]: adds the files of a folder, below NAME if there is one.
take() {
    odd=$(find "$1" -name '*[[:cntrl:]]*' -print | head -n 1)
    [ -z "$odd" ] || refuse "a file name holds a control character: $(printf '%s' "$odd" | tr -d '[:cntrl:]')"
    large=$(find "$1" -type f -size "+${max_file_bytes}c" -print | head -n 1)
    [ -z "$large" ] || refuse "$large has more than $max_file_bytes bytes"
    here=$(find "$1" -type f -print | wc -l)
    count=$((count + here))
    [ "$count" -le "$max_entries" ] || refuse "there are $count artifacts, at most $max_entries are allowed"
    bytes=$(find "$1" -type f -exec ls -ln {} + | awk '{ bytes += $5 } END { printf "%.0f", bytes }')
    total=$((total + ${bytes:-0}))
    [ "$total" -le "$max_unpacked_bytes" ] ||
        refuse "the artifacts have $total bytes, at most $max_unpacked_bytes are allowed"
    odd=$(find "$1" ! -type f ! -type d -print | wc -l)
    left_out=$((left_out + odd))
    [ "$here" -gt 0 ] || return 0
    destination=$stage/archive/artifacts${2:+/$2}
    mkdir -p "$destination" || refuse 'cannot write'
    export destination
    (cd "$1" && find . -type f -exec sh -c '
        for file in "$@"; do
            mkdir -p "$destination/${file%/*}" && cp "$file" "$destination/$file" || exit 1
        done' sh {} +) || refuse 'cannot copy the artifacts'
}

total=0
[ -z "$artifacts" ] || take "$artifacts"
# What the tests of the agent's own runs left, unless it was named already.
left=$MNGR_AGENT_STATE_DIR/$test_artifacts
if [ -d "$left" ] && [ ! -h "$left" ] && [ "$artifacts" != "$left" ]; then
    take "$left" e2e
fi
[ ! -d "$stage/archive/artifacts" ] || members="$members artifacts"

# $members is a list of words on purpose. Two steps: sh does not see the failure of the first program of a pipe.
tar -cf "$stage/outputs.tar" -C "$stage/archive" $members || refuse 'tar failed'
gzip -c "$stage/outputs.tar" >"$stage/outputs.tar.gz" || refuse 'gzip failed'
[ -z "$(find "$stage/outputs.tar.gz" -size "+${max_archive_bytes}c")" ] ||
    refuse "the archive has more than $max_archive_bytes bytes: publish fewer or smaller artifacts"
mv -f "$stage/outputs.tar.gz" "$to/outputs.tar.gz" || refuse "cannot write to $to"
rm -f "$to/refused"

printf 'published: outcome, %s commit(s), %s artifact(s)\n' "$commits" "$count"
if [ "$left_out" -gt 0 ]; then
    printf 'left out: %s link(s) or special file(s)\n' "$left_out"
fi
