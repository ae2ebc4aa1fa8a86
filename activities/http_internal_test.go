package activities

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPublicAddresses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "2606:4700::1111": true, "::ffff:8.8.8.8": true,
		"127.0.0.1": false, "127.8.8.8": false, "0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false,
		"172.16.0.1": false, "172.31.255.255": false, "172.32.0.1": true, "192.168.1.1": false,
		"169.254.169.254": false, // where clouds keep their credentials
		"100.64.0.1":      false, "100.127.255.255": false, "100.128.0.1": true,
		"224.0.0.1": false, "255.255.255.255": false, "240.0.0.1": false, "192.0.0.8": false, "198.18.0.1": false,
		"::": false, "::1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "fe80::1": false, "fe80::1%eth0": false,
		"fc00::1": false, "fd12::1": false, "ff02::1": false, "fec0::1": false,
		"64:ff9b::7f00:1": false, "2002:7f00:1::": false, "2001::1": false,
		"::127.0.0.1": false, "::ffff:0:127.0.0.1": false,
	} {
		require.Equal(t, want, public(netip.MustParseAddr(text)), "address %s", text)
	}
}

func TestParseHosts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]hostRule{
		"orders.internal":   {name: "orders.internal"},
		"Orders.Internal.":  {name: "orders.internal"},
		"a.b:8443":          {name: "a.b", port: "8443"},
		"*.example.com":     {name: ".example.com", below: true},
		"*.example.com:443": {name: ".example.com", below: true, port: "443"},
		"[::1]:80":          {name: "::1", port: "80"},
	} {
		rules, err := parseHosts([]string{text})
		require.NoError(t, err, text)
		require.Equal(t, hosts{want}, rules)
	}
	for _, text := range []string{"", "*", "*.", "a.*.b", "http://a", "a/b", "u@a", "a b", "a?b", ":80"} {
		_, err := parseHosts([]string{text, "fine"})
		require.ErrorIs(t, err, ErrHosts, "host %q", text)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "7": 7 * time.Second, " 7 ": 7 * time.Second, "-1": 0, "soon": 0, "1.5": 0,
		"99999999999999999999":          0,
		"9999999999":                    365 * 24 * time.Hour,
		"Fri, 01 May 2026 12:00:30 GMT": 30 * time.Second,
		"Fri, 01 May 2026 11:00:00 GMT": 0,
	} {
		require.Equal(t, want, retryAfter(header, now), "header %q", header)
	}
}

// However a URL is written, only an allowed host may come of it, and what is sent
// to the wire must be read there as it was read here.
func FuzzHosts(f *testing.F) {
	for _, seed := range []string{
		"http://example.com", "https://a.example.com:443/x?y#z", "http://example.com@evil.org", "http://evil.org#@example.com",
		"http://evil.org\\@example.com", "//example.com", "HTTP://EXAMPLE.COM.", "http://example.com:80:90", "http://[::1%25example.com]/",
		"http://example.com%00.evil.org", "http://example.com\t.evil.org", "http:example.com", "http://xexample.com",
	} {
		f.Add(seed)
	}
	rules, err := parseHosts([]string{"example.com", "*.example.com"})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.Parse(text)
		if err != nil || rules.check(u) != nil {
			return
		}
		again, err := url.Parse(u.String())
		require.NoError(t, err)
		for _, read := range []*url.URL{u, again} {
			name := canonicalHost(read.Hostname())
			require.True(t, name == "example.com" || strings.HasSuffix(name, ".example.com"), "host %q of %q", name, text)
			require.Nil(t, read.User)
			require.Contains(t, []string{"http", "https"}, read.Scheme)
		}
	})
}
