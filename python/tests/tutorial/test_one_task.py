"""The section "One task from start to end", with the plugin."""

from mngr_e2e import expect

CREATE = "mngr create fix-login scripted --no-connect -- 'edit login.py fixed' 'commit Fix the login' 'ask is that all?'"


def fix_login(e2e):
    expect(e2e.run(CREATE, comment="a script plays the agent")).to_succeed()
    expect(e2e.run("mngr wait fix-login WAITING --timeout 20s")).to_succeed()


def test_a_scripted_agent_commits_and_asks(e2e):
    e2e.write_tutorial_block("""
        # A script plays the agent here, so that it costs nothing and does the same every time:
        # it edits a file, commits it, and asks a question
        mngr create fix-login scripted --no-connect -- 'edit login.py fixed' 'commit Fix the login' 'ask is that all?'
    """)
    fix_login(e2e)
    expect(e2e.run("git log -1 --format=%s mngr/fix-login").stdout).to_equal("Fix the login\n")
    expect(e2e.run("mngr capture fix-login").stdout).to_contain("is that all?")


def test_two_agents_do_not_see_each_others_files(e2e):
    e2e.write_tutorial_block("""
        # A second agent in the same repository, at the same time. They do not see each other's files
        mngr create docs --no-connect -- sh
    """)
    fix_login(e2e)
    expect(e2e.run("mngr create docs --no-connect -- sh")).to_succeed()
    expect(e2e.run("mngr exec fix-login ls").stdout).to_contain("login.py")
    expect(e2e.run("mngr exec docs ls").stdout).not_to_contain("login.py")


def test_list_shows_who_waits(e2e):
    e2e.write_tutorial_block("""
        # What are they doing? fix-login waits: it has a question
        mngr list
    """)
    fix_login(e2e)
    expect(e2e.run("mngr list").stdout).to_match(r"fix-login +WAITING \(QUESTION\)")


def test_an_answer_ends_the_task(e2e):
    e2e.write_tutorial_block("""
        # Answer it. The command returns once the agent has taken the message, and fails if it did not
        mngr message fix-login 'yes, thank you'

        # Wait until it has ended
        mngr wait fix-login
    """)
    fix_login(e2e)
    expect(e2e.run("mngr message fix-login 'yes, thank you'")).to_succeed()
    expect(e2e.run("mngr wait fix-login").stdout).to_equal("fix-login is DONE\n")
    late = e2e.run("mngr message fix-login 'yes, thank you'", comment="it has ended")
    expect(late).to_have_exit_code(1)


def test_commits_are_merged(e2e):
    e2e.write_tutorial_block("""
        # Bring its commits here, and merge them into the branch you are on
        mngr pull fix-login --merge
    """)
    fix_login(e2e)
    pulled = e2e.run("mngr pull fix-login --merge")
    expect(pulled).to_succeed()
    expect(pulled.stdout).to_contain("Fast-forwarded main to mngr/fix-login (1 commit)")
    assert (e2e.project / "login.py").read_text() == "fixed\n"


def test_destroy_and_undo(e2e):
    e2e.write_tutorial_block("""
        # Clear up. It is one command to change your mind
        mngr destroy --force docs
        mngr undo docs
    """)
    expect(e2e.run("mngr create docs --no-connect -- sh")).to_succeed()
    expect(e2e.run("mngr destroy --force docs")).to_succeed()
    expect(e2e.run("mngr list").stdout).to_contain("No agents found")
    expect(e2e.run("mngr undo docs").stdout).to_contain("Restored agent: docs on branch mngr/docs")
