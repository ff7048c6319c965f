//! Where an engine listens, as `DOCKER_HOST` spells it. Pure: nothing is opened here.

use std::fmt;
use std::str::FromStr;

/// Where the engine of this machine listens.
const DEFAULT_SOCKET: &str = "/var/run/docker.sock";
/// The port of an engine without TLS.
const DEFAULT_PORT: u16 = 2375;

/// The address of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// A socket of this machine.
    Unix {
        /// Its path.
        path: String,
    },
    /// A port, in clear text.
    Tcp {
        /// `host:port`.
        address: String,
    },
    /// A socket of a machine that is reached by ssh.
    Ssh {
        /// The user there, unless the ssh config says.
        user: Option<String>,
        /// The machine.
        host: String,
        /// The port of its sshd, unless the ssh config says.
        port: Option<u16>,
        /// The path of the socket there.
        socket: String,
    },
}

/// The text is no address of an engine.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// It does not begin as one.
    #[error(
        "`{text}` is not the address of a Docker engine; it looks like `unix:///PATH`, `tcp://HOST:PORT` or `ssh://HOST`"
    )]
    Unknown {
        /// As it was given.
        text: String,
    },
    /// A part of it is missing or wrong.
    #[error("the Docker engine `{text}` has no usable {part}")]
    Part {
        /// As it was given.
        text: String,
        /// What is wrong with it.
        part: &'static str,
    },
}

impl Default for Endpoint {
    fn default() -> Self {
        Self::Unix { path: DEFAULT_SOCKET.to_owned() }
    }
}

impl FromStr for Endpoint {
    type Err = EndpointError;

    fn from_str(text: &str) -> Result<Self, EndpointError> {
        let wrong = |part| EndpointError::Part { text: text.to_owned(), part };
        let port = |word: &str| word.parse::<u16>().map_err(|_| wrong("port"));
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(EndpointError::Unknown { text: text.to_owned() });
        };
        match scheme {
            "unix" if rest.starts_with('/') => Ok(Self::Unix { path: rest.to_owned() }),
            "unix" => Err(wrong("path")),
            "tcp" | "http" => {
                let address = rest.trim_end_matches('/');
                if address.is_empty() || address.contains('/') {
                    return Err(wrong("host"));
                }
                // The colons of a bare IPv6 address are in brackets.
                match address.rsplit_once(':').filter(|(_, word)| !word.contains(']')) {
                    Some((_, word)) => port(word).map(|_| Self::Tcp { address: address.to_owned() }),
                    None => Ok(Self::Tcp { address: format!("{address}:{DEFAULT_PORT}") }),
                }
            }
            "ssh" => {
                let (login, path) = rest.split_once('/').unwrap_or((rest, ""));
                let (user, place) = match login.rsplit_once('@') {
                    Some((user, place)) if !user.is_empty() && !user.contains(':') => {
                        (Some(user.to_owned()), place)
                    }
                    Some(_) => return Err(wrong("user")),
                    None => (None, login),
                };
                let (host, word) = match place.rsplit_once(':').filter(|(_, word)| !word.contains(']')) {
                    Some((host, word)) => (host, Some(word)),
                    None => (place, None),
                };
                let host = host.trim_start_matches('[').trim_end_matches(']');
                if host.is_empty() || host.starts_with('-') {
                    return Err(wrong("host"));
                }
                let socket = if path.is_empty() { DEFAULT_SOCKET.to_owned() } else { format!("/{path}") };
                Ok(Self::Ssh { user, host: host.to_owned(), port: word.map(port).transpose()?, socket })
            }
            _ => Err(EndpointError::Unknown { text: text.to_owned() }),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix { path } => write!(f, "unix://{path}"),
            Self::Tcp { address } => write!(f, "tcp://{address}"),
            Self::Ssh { user, host, port, socket } => {
                f.write_str("ssh://")?;
                if let Some(user) = user {
                    write!(f, "{user}@")?;
                }
                if host.contains(':') {
                    write!(f, "[{host}]")?
                } else {
                    f.write_str(host)?
                }
                if let Some(port) = port {
                    write!(f, ":{port}")?;
                }
                f.write_str(socket)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Endpoint {
        text.parse().unwrap()
    }

    #[test]
    fn every_kind_of_address_is_read_and_written_back() {
        assert_eq!(read("unix:///run/d.sock"), Endpoint::Unix { path: "/run/d.sock".to_owned() });
        assert_eq!(read("tcp://box"), Endpoint::Tcp { address: "box:2375".to_owned() });
        assert_eq!(read("tcp://[::1]:99/"), Endpoint::Tcp { address: "[::1]:99".to_owned() });
        let ssh = Endpoint::Ssh {
            user: Some("me".to_owned()),
            host: "box".to_owned(),
            port: Some(2222),
            socket: "/run/d.sock".to_owned(),
        };
        assert_eq!(read("ssh://me@box:2222/run/d.sock"), ssh);
        for text in ["unix:///a", "tcp://b:1", "ssh://me@box:2222/run/d.sock", "ssh://[::1]/s"] {
            assert_eq!(read(text).to_string(), text);
        }
        assert_eq!(read("ssh://box").to_string(), "ssh://box/var/run/docker.sock");
    }

    #[test]
    fn what_is_no_address_is_refused_with_what_is_wrong() {
        for (text, says) in [
            ("docker", "not the address"),
            ("npipe:////./pipe/docker", "not the address"),
            ("unix://run/d.sock", "path"),
            ("tcp://", "host"),
            ("tcp://box:lots", "port"),
            ("ssh://-oProxyCommand=x", "host"),
            ("ssh://me:secret@box", "user"),
        ] {
            let error = text.parse::<Endpoint>().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
