package main

import (
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"

	"github.com/tidemill/tidemill/graph"
)

// The part of SARIF 2.1.0 that code hosts and editors read.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string             `json:"id"`
		ShortDescription sarifText          `json:"shortDescription"`
		Default          sarifConfiguration `json:"defaultConfiguration"`
	}
	sarifConfiguration struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
	}
)

// writeSARIF writes diagnostics as one SARIF log.
func writeSARIF(w io.Writer, diagnostics graph.Diagnostics) error {
	rules, index := sarifRules(diagnostics)
	results := make([]sarifResult, len(diagnostics))
	for i, d := range diagnostics {
		text := d.Message
		if d.Fix != "" {
			text += " (" + d.Fix + ")"
		}
		results[i] = sarifResult{
			RuleID: d.Code, RuleIndex: index[d.Code], Level: string(d.Severity),
			Message: sarifText{text}, Locations: []sarifLocation{sarifPlace(d)},
		}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: []sarifRun{{
			Tool: sarifTool{sarifDriver{
				Name: "tidemill", InformationURI: "https://github.com/tidemill/tidemill", Rules: rules,
			}},
			ColumnKind: "unicodeCodePoints", Results: results,
		}},
	})
}

// sarifRules describes the codes that were found, in the order they were.
func sarifRules(diagnostics graph.Diagnostics) ([]sarifRule, map[string]int) {
	meanings := map[string]string{codeUnreadable: "The file cannot be read."}
	for _, code := range graph.Codes() {
		meanings[code.Code] = code.Meaning
	}
	rules, index := []sarifRule{}, map[string]int{}
	for _, d := range diagnostics {
		if _, known := index[d.Code]; known {
			continue
		}
		index[d.Code] = len(rules)
		meaning := meanings[d.Code]
		if meaning == "" {
			meaning = d.Code
		}
		rules = append(rules, sarifRule{
			ID: d.Code, ShortDescription: sarifText{meaning}, Default: sarifConfiguration{string(d.Severity)},
		})
	}
	return rules, index
}

func sarifPlace(d graph.Diagnostic) sarifLocation {
	uri := url.URL{Path: filepath.ToSlash(d.File)}
	place := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{uri.String()}}}
	if d.Line > 0 {
		place.Physical.Region = &sarifRegion{StartLine: d.Line, StartColumn: d.Column}
	}
	if d.Pointer != "" {
		place.Logical = []sarifLogical{{d.Pointer}}
	}
	return place
}
