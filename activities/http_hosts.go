package activities

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/tidemill/tidemill/graph"
)

// HTTPOptions say what the http action may reach. The zero value: nothing.
type HTTPOptions struct {
	// Hosts are names ("orders.internal"), names with a port
	// ("orders.internal:8443"), and every name below one ("*.example.com"). A
	// host without a port is allowed on every port.
	Hosts []string
	// Private allows allowed names that resolve to addresses of this machine or
	// a private network.
	Private bool
}

// ErrHosts is returned by [New] for an entry of [HTTPOptions.Hosts] that is not
// a host.
var ErrHosts = errors.New("activities: http.hosts: not a host; write orders.internal, orders.internal:8443 or *.example.com")

// The bounds of a request.
const (
	maxRedirects = 10
	dialTimeout  = 10 * time.Second
)

// hosts is the allow-list, in lower case.
type hosts []hostRule

type hostRule struct {
	name  string // without the "*" of a suffix rule
	below bool   // every name below name
	port  string // empty: every port
}

func parseHosts(list []string) (hosts, error) {
	var rules hosts
	var errs []error
	for _, text := range list {
		rule, ok := parseHost(text)
		if !ok {
			errs = append(errs, fmt.Errorf("%w: %q", ErrHosts, text))
			continue
		}
		rules = append(rules, rule)
	}
	return rules, errors.Join(errs...)
}

func parseHost(text string) (hostRule, bool) {
	u, err := url.Parse("//" + text)
	if err != nil || u.Host != text || u.User != nil || u.Hostname() == "" {
		return hostRule{}, false
	}
	rule := hostRule{name: canonicalHost(u.Hostname()), port: u.Port()}
	if strings.HasPrefix(rule.name, "*.") {
		rule.below, rule.name = true, rule.name[1:]
	}
	return rule, rule.name != "." && !strings.Contains(rule.name, "*")
}

func canonicalHost(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }

// check refuses a URL that leads anywhere but to an allowed host.
func (h hosts) check(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return hostRefused("the scheme %q is refused; use http or https", u.Scheme)
	case u.User != nil:
		return hostRefused("a user or password in the url is refused; send a header instead")
	case u.Hostname() == "":
		return hostRefused("the url names no host")
	case !h.allow(u):
		return hostRefused("host %q is not allowed; add it to the worker's http.hosts", u.Host)
	}
	return nil
}

func hostRefused(format string, args ...any) error {
	return NewError(graph.ErrTypeHTTPHostRefused, fmt.Sprintf(format, args...)).NotRetryable()
}

func (h hosts) allow(u *url.URL) bool {
	name, port := canonicalHost(u.Hostname()), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	for _, rule := range h {
		named := rule.name == name || rule.below && strings.HasSuffix(name, rule.name) && name != rule.name
		if named && (rule.port == "" || rule.port == port) {
			return true
		}
	}
	return false
}

// newFetcher makes the http action. Its client has no proxy: through one, the
// addresses that are really reached could not be checked.
func newFetcher(o HTTPOptions) (*fetcher, error) {
	rules, err := parseHosts(o.Hosts)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	if !o.Private {
		dialer.ControlContext = refusePrivate
	}
	f := &fetcher{hosts: rules}
	f.client = &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxIdleConns: 100,
			IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: dialTimeout, MaxResponseHeaderBytes: 256 << 10,
		},
		CheckRedirect: f.followRedirect,
	}
	return f, nil
}

// HTTPAction is the action http with requests that something else than the network
// carries, to whatever host: for tests.
func HTTPAction(transport http.RoundTripper) ActionFunc {
	f := &fetcher{anywhere: true}
	f.client = &http.Client{Transport: transport, CheckRedirect: f.followRedirect}
	return f.act
}

// check refuses a URL that no request may go to.
func (f *fetcher) check(u *url.URL) error {
	if f.anywhere {
		return hosts.check(hosts{{name: canonicalHost(u.Hostname())}}, u)
	}
	return f.hosts.check(u)
}

// followRedirect lets a redirect lead only where a request could go. Headers
// beyond the harmless ones stay with the host they were written for, and no host
// learns the URL of another.
func (f *fetcher) followRedirect(request *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return hostRefused("more than %d redirects", maxRedirects)
	}
	if err := f.check(request.URL); err != nil {
		return err
	}
	request.Header.Del("Referer")
	first := via[0].URL
	if request.URL.Host != first.Host || request.URL.Scheme != first.Scheme {
		kept := http.Header{}
		for _, name := range []string{"Accept", "Content-Type", "Idempotency-Key", "User-Agent"} {
			if values := request.Header.Values(name); len(values) > 0 {
				kept[name] = values
			}
		}
		request.Header = kept
	}
	return nil
}

// refusePrivate refuses a connection to an address that is not public. It sees
// the address that is dialled, after the name was resolved, so a name cannot
// change its mind in between.
func refusePrivate(_ context.Context, _, address string, _ syscall.RawConn) error {
	addr, err := netip.ParseAddrPort(address)
	if err != nil || !public(addr.Addr()) {
		return hostRefused("the host resolves to an address that is not public; set the worker's http.private to allow that")
	}
	return nil
}

// public reports whether an address belongs to the public internet.
func public(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	if !addr.IsGlobalUnicast() || addr.IsPrivate() {
		return false // loopback, link-local, multicast, unspecified, RFC 1918, unique local
	}
	for _, text := range reservedNetworks() {
		if netip.MustParsePrefix(text).Contains(addr) {
			return false
		}
	}
	return true
}

// reservedNetworks are the networks that look public and are not, or that carry
// another address inside.
func reservedNetworks() []string {
	return []string{
		"0.0.0.0/8",       // this network
		"100.64.0.0/10",   // carrier-grade NAT
		"192.0.0.0/24",    // protocol assignments
		"192.0.2.0/24",    // documentation
		"198.18.0.0/15",   // benchmarks
		"198.51.100.0/24", // documentation
		"203.0.113.0/24",  // documentation
		"240.0.0.0/4",     // reserved, broadcast
		"::/96",           // IPv4-compatible: an IPv4 address inside
		"::ffff:0:0:0/96", // translated: an IPv4 address inside
		"64:ff9b::/96",    // NAT64: an IPv4 address inside
		"64:ff9b:1::/48",  // local NAT64
		"2001::/32",       // Teredo
		"2002::/16",       // 6to4
		"2001:db8::/32",   // documentation
		"fec0::/10",       // site-local
	}
}
