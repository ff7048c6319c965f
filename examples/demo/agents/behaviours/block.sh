# shellcheck shell=sh
# block NOTE: the work cannot be done, and here is why.
block() {
    try try_1 || :
    publish_outcome '{
        "result": "blocked", "summary_markdown": "The test asks for something the program cannot do.",
        "reason": "'"$(note "$1")"'", "tests_passing_before": false, "tests_passing_after": false,
        "test_runs": [{"run_name": "try_1", "description_markdown": "Unchanged: red."}],
        "escalations": [{"kind": "BLOCKER", "description_markdown": "'"$(note "$1")"'", "locations": [{"path": "tutorial.sh"}]}]
    }'
}
