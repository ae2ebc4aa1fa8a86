package graph

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A secret under a key that is missed ends in history for good; a harmless
// field that is taken for one makes authors work around the check.
func TestSecretKey(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		"password", "Password", "db_password", "dbPassword", "PASSWD", "pwd", "secret", "client_secret", "clientSecret",
		"token", "TOKEN", "accessToken", "access-token", "refresh_token", "idToken", "my_token", "session.token",
		"authorization", "Authorization", "Proxy-Authorization", "cookie", "Set-Cookie", "credential", "credentials",
		"api_key", "apiKey", "apikey", "APIKey", "X-Api-Key", "x_api_key", "private_key", "privateKey", "private key",
		"access_key", "bearer", "otp", "pin", "client_assertion_token", "token2",
	} {
		require.True(t, secretKey(key), key)
	}
	for _, key := range []string{
		"", "tokens", "max_tokens", "maxTokens", "secrets", "pinned", "opinion", "tokenizer", "keys", "key", "primary_key",
		"sort_key", "idempotency-key", "token_count", "token_type", "secret_name", "cookie_ttl", "passwordless", "author",
		"authorized", "pinch", "spin",
	} {
		require.False(t, secretKey(key), key)
	}
}

func TestKeyWords(t *testing.T) {
	t.Parallel()
	for key, want := range map[string][]string{
		"accessToken": {"access", "token"}, "APIKey": {"api", "key"}, "X-Api-Key": {"x", "api", "key"},
		"HTTPProxyURL": {"http", "proxy", "url"}, "a1b": {"a", "b"}, "größeToken": {"größe", "token"}, "__": nil,
	} {
		require.Equal(t, want, keyWords(key), key)
	}
}

func TestSecretInURL(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"https://u:p@example.com", "https://example.com/?access_token=x", "https://example.com/#access_token=x",
		"https://example.com/?a=1&API-Key=2", "https://example.com/?a=1;token=2",
	} {
		require.True(t, secretInURL(text), text)
	}
	for _, text := range []string{
		"https://example.com", "https://user@example.com", "https://example.com/token/x?a=b", "https://example.com/?token=",
		"https://example.com/?q=a%20b&x=~", "https://example.com/?token=${ secret('T') }", "see https://x", "password=x", "://",
	} {
		require.False(t, secretInURL(text), text)
	}
}
