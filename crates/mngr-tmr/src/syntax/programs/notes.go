// Package notes keeps notes in memory.
package notes

import (
	"fmt"
	"strings"
)

const limit = 3

// Notes are all notes.
type Notes[T any] struct {
	all     []string `json:"all"`
	changed bool
	adds    int
}

// Add adds one.
func (n *Notes[T]) Add(text string) (int, error) {
	if text == "" || strings.TrimSpace(text) == "" {
		return 0, fmt.Errorf("it says nothing")
	}
	if len(n.all) >= limit && !n.open() {
		return 0, fmt.Errorf("no room for %q", text)
	}
	n.all = append(n.all, text)
	n.changed = true
	n.adds++
	return len(n.all), nil
}

func (n Notes[T]) open() bool { return n.adds > 2 && n.adds < 5 }

// Text is all of them.
func (n *Notes[T]) Text() string {
	var text strings.Builder
	for i := 0; i < len(n.all); i++ {
		if n.all[i] == "-" {
			continue
		}
		text.WriteString(fmt.Sprintf("%d: %s\n", i+1, n.all[i]))
	}
	return text.String()
}

var each = func(n *Notes[int], f func(string)) {
	for _, note := range n.all {
		f(note)
	}
}

func size(n *Notes[int]) (count int, err error) {
	defer func() { count *= 2 }()
	switch {
	case n == nil:
		panic("no notes")
	default:
		count = len(n.all)
	}
	return
}
