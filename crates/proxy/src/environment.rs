//! The variables that make programs use the proxy.
//!
//! Must not read or set any: the caller puts them into the command's environment.

/// Hosts that programs reach without the proxy: the namespace's own loopback. The brackets are for
/// programs that compare the host as it stands in a URL.
const DIRECT: &str = "localhost,127.0.0.1,::1,[::1]";

/// Variables that hold the proxy as a URL.
///
/// `ALL_PROXY` is HTTP too, not `socks5h`: with a SOCKS address in it a common HTTP library of Python
/// (httpx) cannot even make a client unless an extra package is there, and what reads the variable for
/// other protocols can tunnel by CONNECT. The rest are of programs that would else prefer what their
/// own files say.
const PROXY: [&str; 12] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "CARGO_HTTP_PROXY",
    "PIP_PROXY",
    "npm_config_proxy",
    "npm_config_https_proxy",
    "YARN_HTTP_PROXY",
    "YARN_HTTPS_PROXY",
];

/// Variables that hold the hosts to reach without it.
const NO_PROXY: [&str; 3] = ["NO_PROXY", "no_proxy", "npm_config_noproxy"];

/// The variables for a command whose proxy listens at `port` of its own loopback.
pub fn proxy_environment(port: u16) -> Vec<(&'static str, String)> {
    let url = format!("http://127.0.0.1:{port}");
    let mut variables = Vec::new();
    for name in PROXY {
        variables.push((name, url.clone()));
    }
    for name in NO_PROXY {
        variables.push((name, DIRECT.to_owned()));
    }
    // Node reads the others for `fetch` and `http` only when it is told to.
    variables.push(("NODE_USE_ENV_PROXY", "1".to_owned()));
    variables.push(("RSYNC_PROXY", format!("127.0.0.1:{port}")));
    variables
}
