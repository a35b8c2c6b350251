// A plugin in Go: a package main in three files, built with
//
//	CGO_CFLAGS=-IINCLUDE go build -buildmode=c-shared -o urls.so .
//
// The tables are C (tables.c), the work is Go.  The tool brings its own JSON Schema, so it gets
// the arguments as JSON text and reads them with encoding/json.
package main

// #include "plugin.h"
import "C"

import (
	"encoding/json"
	"net/url"
	"unsafe"
)

type arguments struct {
	URL string `json:"url"`
}

type parts struct {
	Scheme string              `json:"scheme"`
	Host   string              `json:"host"`
	Path   string              `json:"path"`
	Query  map[string][]string `json:"query"`
}

// What the tool does: nothing in here knows of mortise.
func parse(text string) (parts, error) {
	parsed, err := url.Parse(text)
	if err != nil {
		return parts{}, err
	}
	return parts{parsed.Scheme, parsed.Host, parsed.Path, parsed.Query()}, nil
}

func answer(call *C.mortise_call, text string) C.mortise_status {
	return C.reply(call, (*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.size_t(len(text)))
}

func refuse(call *C.mortise_call, err error) C.mortise_status {
	text := err.Error()
	return C.fail(call, (*C.char)(unsafe.Pointer(unsafe.StringData(text))), C.size_t(len(text)))
}

//export goRun
func goRun(call *C.mortise_call, text *C.char) (status C.mortise_status) {
	// A panic must not leave a function that the host calls.
	defer func() {
		if recover() != nil {
			status = C.MORTISE_FAILED
		}
	}()
	var args arguments
	if err := json.Unmarshal([]byte(C.GoString(text)), &args); err != nil {
		return refuse(call, err)
	}
	result, err := parse(args.URL)
	if err != nil {
		return refuse(call, err)
	}
	encoded, err := json.Marshal(result)
	if err != nil {
		return refuse(call, err)
	}
	return answer(call, string(encoded))
}

func main() {}
