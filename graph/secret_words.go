package graph

import (
	"slices"
	"strings"
	"unicode"
)

// secretKey reports whether a key names a secret. It looks at the words of the
// key, so accessToken, X-Api-Key and my_token do, and max_tokens, pinned and
// tokenizer do not. Keys that speak about a secret without being one, such as
// secret_name or token_url, do not either.
func secretKey(key string) bool {
	words := keyWords(key)
	if len(words) == 0 || slices.Contains(aboutWords(), words[len(words)-1]) {
		return false
	}
	for i, word := range words {
		if slices.Contains(secretWords(), word) {
			return true
		}
		if i > 0 && word == "key" && slices.Contains(keyKinds(), words[i-1]) {
			return true
		}
	}
	return false
}

func secretWords() []string {
	return []string{
		"password", "passwd", "pwd", "passphrase", "secret", "token", "authorization", "cookie",
		"credential", "credentials", "bearer", "apikey", "otp", "pin",
	}
}

// keyKinds are the words that make a key a secret: api_key, private-key.
func keyKinds() []string { return []string{"api", "private", "access", "signing", "encryption"} }

func aboutWords() []string {
	return []string{"name", "type", "count", "limit", "length", "url", "uri", "endpoint", "path", "file", "ttl"}
}

// keyWords splits a key at case changes and at everything that is no letter,
// and gives the words in lower case: "accessToken" is access, token.
func keyWords(key string) []string {
	var words []string
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			words = append(words, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	runes := []rune(key)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			flush()
		}
		word.WriteRune(r)
	}
	flush()
	return words
}
