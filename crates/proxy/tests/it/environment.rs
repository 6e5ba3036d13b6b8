//! The variables that a command gets.

use std::collections::BTreeMap;

use tollgate_proxy::proxy_environment;

#[test]
fn each_variable_is_set_once_and_says_where_the_proxy_is() {
    let list = proxy_environment(3128);
    let variables: BTreeMap<_, _> = list.iter().cloned().collect();
    assert_eq!(list.len(), variables.len());
    for name in [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ] {
        assert_eq!(variables[name], "http://127.0.0.1:3128", "{name}");
    }
    for name in ["no_proxy", "NO_PROXY"] {
        assert_eq!(variables[name], "localhost,127.0.0.1,::1,[::1]", "{name}");
    }
}
