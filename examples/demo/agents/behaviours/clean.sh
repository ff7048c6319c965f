# shellcheck shell=sh
# clean [NOTE]: the test is good as it is. The note is about something else that was seen on the way.
clean() {
    try try_1
    seen=
    [ $# -eq 0 ] || seen='{"kind": "UNCAUGHT_BUG", "description_markdown": "'$(note "$1")'", "locations": [{"path": "todo"}]}'
    publish_outcome '{
        "result": "clean", "summary_markdown": "The test passes and observes what its contract says.",
        "tests_passing_before": true, "tests_passing_after": true,
        "test_runs": [{"run_name": "try_1", "description_markdown": "Unchanged: green."}],
        "escalations": ['"$seen"']
    }'
}
