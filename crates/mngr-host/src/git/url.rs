//! Repository URLs: what counts as one, its name, and the same URL without secrets. Pure.

/// The schemes git itself speaks and users write.
const SCHEMES: [&str; 7] = ["http", "https", "ssh", "git", "file", "git+ssh", "ssh+git"];

/// Whether the text is a repository URL rather than a path or the address of an agent.
///
/// Besides `scheme://...` this is the scp form `user@host:path` whose path is relative and has a `/`, or ends in
/// `.git`. With an absolute path (`name@host:/srv/x`) it is the address of a folder on a host.
pub fn is_git_url(text: &str) -> bool {
    if let Some((scheme, rest)) = text.split_once("://") {
        return SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) && !rest.trim_matches('/').is_empty();
    }
    let Some((user_and_host, path)) = scp_parts(text) else { return false };
    let Some((user, host)) = user_and_host.split_once('@') else { return false };
    let is_word = |part: &str| {
        !part.is_empty()
            && !part.starts_with('-')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
    };
    let names_a_folder = ["/", "./", "../", "~"].iter().any(|start| path.starts_with(start));
    is_word(user) && is_word(host) && (path.ends_with(".git") || (path.contains('/') && !names_a_folder))
}

/// The last part of the URL's path without `.git`, or `None` when there is none.
pub fn repo_name_from_url(url: &str) -> Option<String> {
    let clean = strip_credentials(url);
    let path = match clean.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?.1,
        None => scp_parts(&clean).map_or(clean.as_str(), |(_, path)| path),
    };
    let last = path.trim_end_matches('/').rsplit('/').next()?;
    let name = last.strip_suffix(".git").unwrap_or(last);
    (!name.is_empty() && name != "." && name != "..").then(|| name.to_owned())
}

/// The URL with nothing in it that could be a secret: no password, no user name except for ssh (where it is part of
/// the address), no query, no fragment. A path is returned as it is.
pub fn strip_credentials(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => strip_from_scheme_url(scheme, rest),
        None => strip_from_scp_form(url),
    }
}

/// The text with every URL in it passed through [`strip_credentials`].
pub(crate) fn scrub_credentials(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let scheme_start = rest[..at]
            .rfind(|c: char| !is_scheme_char(c))
            .map_or(0, |before| before + rest[before..].chars().next().map_or(1, char::len_utf8));
        let end = rest[at..].find(char::is_whitespace).map_or(rest.len(), |length| at + length);
        clean.push_str(&rest[..scheme_start]);
        clean.push_str(&strip_credentials(&rest[scheme_start..end]));
        rest = &rest[end..];
    }
    clean.push_str(rest);
    clean
}

fn is_scheme_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-')
}

fn strip_from_scheme_url(scheme: &str, rest: &str) -> String {
    let (userinfo, rest) = rest.split_at(userinfo_length(rest));
    let place = &rest[..rest.find(['?', '#']).unwrap_or(rest.len())];
    let user = userinfo.split([':', '@']).next().unwrap_or_default();
    if scheme.to_ascii_lowercase().contains("ssh") && !user.is_empty() {
        format!("{scheme}://{user}@{place}")
    } else {
        format!("{scheme}://{place}")
    }
}

/// How much of what follows `://` is `user:password@`, the `@` included.
///
/// A password may hold an unescaped `@`, `?` or `/`. No port is written with anything but digits, so a `:` followed
/// by something else shows that the first `/` is inside the password.
fn userinfo_length(rest: &str) -> usize {
    let authority = rest.split('/').next().unwrap_or_default();
    let through_last_at = |text: &str| text.rfind('@').map_or(0, |at| at + 1);
    let length = through_last_at(authority);
    let port =
        if authority.starts_with('[') { None } else { authority.split_once(':').map(|(_, port)| port) };
    let is_cut_password =
        length == 0 && port.is_some_and(|port| port.is_empty() || port.bytes().any(|b| !b.is_ascii_digit()));
    if is_cut_password { through_last_at(rest) } else { length }
}

/// `user:password@host:path` is no valid scp form, but people write it; other texts stay as they are.
fn strip_from_scp_form(text: &str) -> String {
    let head = text.split('/').next().unwrap_or_default();
    if let Some((userinfo, _)) = head.rsplit_once('@')
        && let Some((user, _)) = userinfo.split_once(':')
        && head[userinfo.len()..].contains(':')
    {
        return format!("{user}{}", &text[userinfo.len()..]);
    }
    text.to_owned()
}

/// `user@host` and `path` of `user@host:path`; a `/` before the first `:` makes it a path.
fn scp_parts(text: &str) -> Option<(&str, &str)> {
    let (head, path) = text.split_once(':')?;
    (!head.is_empty() && !head.contains('/') && !path.is_empty()).then_some((head, path))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn urls_and_scp_forms_are_told_from_paths_and_agent_addresses() {
        for url in [
            "https://example.com/a/b.git",
            "HTTP://example.com/a",
            "ssh://git@example.com:22/a",
            "git://example.com/a",
            "file:///srv/a.git",
            "git@example.com:org/repo",
            "git@example.com:repo.git",
            "me@host:/srv/repo.git",
        ] {
            assert!(is_git_url(url), "{url}");
        }
        for other in [
            "",
            "name",
            "./a/b.git",
            "/a/b.git",
            "../x:y/z.git",
            "agent:sub/dir",
            "agent@host.docker:/work",
            "agent@host:~/work",
            "ftp://example.com/x",
            "https://",
            "-oProxyCommand=x@host:a/b",
            "a@b@c:d/e",
            "javascript:alert(1)",
        ] {
            assert!(!is_git_url(other), "{other}");
        }
    }

    #[test]
    fn the_name_is_the_last_part_of_the_path() {
        for (url, name) in [
            ("https://example.com/org/repo.git", Some("repo")),
            ("https://u:p@example.com/org/repo/", Some("repo")),
            ("git@example.com:repo.git", Some("repo")),
            ("git@example.com:org/repo", Some("repo")),
            ("/srv/git/x.git", Some("x")),
            ("https://example.com/repo.git?token=a/b", Some("repo")),
            ("https://example.com/", None),
            ("https://example.com/..", None),
        ] {
            assert_eq!(repo_name_from_url(url).as_deref(), name, "{url}");
        }
    }

    #[test]
    fn credentials_are_stripped() {
        for (url, clean) in [
            ("https://user:pass@example.com/x.git", "https://example.com/x.git"),
            ("https://ghp_token@example.com/x.git", "https://example.com/x.git"),
            ("https://user:p@ss@example.com/x.git", "https://example.com/x.git"),
            ("https://user:p/ss@example.com/x.git", "https://example.com/x.git"),
            ("https://user:/pss@example.com/x.git", "https://example.com/x.git"),
            ("https://user:p?s#s@example.com/x.git", "https://example.com/x.git"),
            ("https://example.com/x.git?private_token=abc#frag", "https://example.com/x.git"),
            ("https://example.com:8443/x.git", "https://example.com:8443/x.git"),
            ("http://[::1]:80/x.git", "http://[::1]:80/x.git"),
            ("ssh://git:pw@example.com:2222/x.git", "ssh://git@example.com:2222/x.git"),
            ("git@example.com:org/x.git", "git@example.com:org/x.git"),
            ("git:pw@example.com:org/x.git", "git@example.com:org/x.git"),
            ("/a/b@c:d", "/a/b@c:d"),
            ("host:x@v2", "host:x@v2"),
        ] {
            assert_eq!(strip_credentials(url), clean, "{url}");
        }
    }

    #[test]
    fn urls_inside_a_message_are_scrubbed_and_the_rest_is_kept() {
        let text =
            "fatal: unable to access 'https://u:pw@example.com/x.git/': é failed (https://t@h/y)\nnext";
        assert_eq!(
            scrub_credentials(text),
            "fatal: unable to access 'https://example.com/x.git/': é failed (https://h/y)\nnext"
        );
    }

    proptest! {
        #[test]
        fn no_password_survives(
            scheme in "(https?|ssh|git|file)", user in "[a-z]{1,8}", secret in "[ -.0-~]{0,6}SECRET[ -.0-~]{0,6}"
        ) {
            let url = format!("{scheme}://{user}:{secret}@example.com/org/repo.git");
            prop_assert!(!strip_credentials(&url).contains("SECRET"), "{}", strip_credentials(&url));
        }

        #[test]
        fn nothing_panics(text in any::<String>()) {
            let _ = (is_git_url(&text), repo_name_from_url(&text), strip_credentials(&text), scrub_credentials(&text));
        }

        #[test]
        fn a_url_without_credentials_stays_as_it_is(
            url in "(https?|ssh|git)://[a-z][a-z.]{0,8}(:[0-9]{1,4})?/[a-z@/.:]{0,12}"
        ) {
            prop_assert_eq!(strip_credentials(&url), url);
        }
    }
}
