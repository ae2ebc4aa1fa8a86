package devserver

import (
	"io"
	"net"
	"strconv"
)

// DefaultNamespace is the namespace every server has.
const DefaultNamespace = "default"

// Attribute is a search attribute that a server registers at its start.
type Attribute struct {
	Name string
	Type string // as the command line spells it: Keyword, KeywordList, Int …
}

// Attributes returns the search attributes that Tidemill writes when a namespace
// has them.
func Attributes() []Attribute {
	return []Attribute{
		{Name: "TidemillGraph", Type: "Keyword"},
		{Name: "TidemillStatus", Type: "Keyword"},
		{Name: "TidemillWaiting", Type: "KeywordList"},
		{Name: "TidemillTrigger", Type: "Keyword"},
	}
}

// Options say what kind of server to start. The zero value is a headless server
// in memory, on free ports, with [Attributes] registered.
type Options struct {
	Port         int               // of the frontend, on 127.0.0.1. Zero means any free one.
	UI           bool              // serve the web UI as well.
	UIPort       int               // of the UI. Zero means any free one.
	Namespaces   []string          // registered besides [DefaultNamespace].
	NoAttributes bool              // leave [Attributes] unregistered, as on a namespace nobody prepared.
	Dynamic      map[string]string // dynamic configuration: key to JSON value.
	Database     string            // SQLite file that outlives the server. Empty means memory.
	Log          io.Writer         // takes the server's own log. Nil means it is dropped, and an early end is still explained.
}

// args is the command line of a server with these options on the given ports.
func (o Options) args(port, uiPort int) []string {
	args := []string{
		"server", "start-dev", "--ip", "127.0.0.1", "--port", strconv.Itoa(port),
		"--log-level", "error", "--namespace", DefaultNamespace,
		"--dynamic-config-value", "frontend.enableServerVersionCheck=false",
		// A queue is split into four partitions, for many workers. The few pollers of one
		// worker cannot be at all of them, and what waits in another is late by two seconds.
		"--dynamic-config-value", "matching.numTaskqueueReadPartitions=1",
		"--dynamic-config-value", "matching.numTaskqueueWritePartitions=1",
	}
	if o.UI {
		args = append(args, "--ui-port", strconv.Itoa(uiPort))
	} else {
		args = append(args, "--headless")
	}
	if o.Database != "" {
		args = append(args, "--db-filename", o.Database)
	}
	for _, namespace := range o.Namespaces {
		args = append(args, "--namespace", namespace)
	}
	if !o.NoAttributes {
		for _, attribute := range Attributes() {
			args = append(args, "--search-attribute", attribute.Name+"="+attribute.Type)
		}
	}
	for key, value := range o.Dynamic {
		args = append(args, "--dynamic-config-value", key+"="+value)
	}
	return args
}

// ports returns the frontend's and the UI's port, choosing free ones for those
// that are zero. Both are held until both are known, so they differ.
func (o Options) ports() (port, uiPort int, err error) {
	port, uiPort = o.Port, o.UIPort
	for _, wanted := range []*int{&port, &uiPort} {
		if *wanted != 0 {
			continue
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, 0, err
		}
		defer func() { _ = listener.Close() }()
		*wanted = listener.Addr().(*net.TCPAddr).Port
	}
	return port, uiPort, nil
}
