package graph

import (
	"fmt"
	"strings"

	"github.com/tidemill/tidemill/graph/internal/layered"
)

// The measures of outlines, in pixels.
const (
	padX     = 12 // between text and outline
	padY     = 7
	slant    = 12 // how far a slanted side leans
	barInset = 6  // of the bars at either side of a child graph
	stacked  = 4  // how far each box of a stack stands aside
	dotSize  = 44 // of start and end
	doubled  = 4  // between the two rings of the end
)

// wrapped are the lines of the vertex as they are drawn.
func (v *vertex) wrapped() []string {
	var lines []string
	for _, line := range v.lines {
		lines = append(lines, wrap(line, nodeColumns)...)
	}
	return lines
}

// box is the room of the vertex with its text.
func (v *vertex) box(lines []string) layered.Box {
	w, h := widest(lines)*svgChar+2*padX, len(lines)*svgLine+2*padY
	switch v.outline {
	case outlineStart:
		return layered.Box{W: dotSize, H: dotSize}
	case outlineEnd:
		return layered.Box{W: dotSize, H: dotSize, Ports: dotSize / 2}
	case outlineDiamond: // text of half the width and half the height fits
		w, h = 2*(w-padX), 2*(h-padY)
		return layered.Box{W: w, H: h, Ports: w / 2}
	case outlineCircle: // an ellipse is as wide as its text's rectangle, times the root of two
		w, h = (w-padX)*3/2, (h-padY)*3/2
		return layered.Box{W: w, H: h}
	case outlineHexagon, outlineParallelogram, outlineTrapezoid:
		w += 2 * slant
		return layered.Box{W: w, H: h, Ports: w - 2*slant - padX}
	case outlineBars:
		w += 2 * barInset
	case outlineStack:
		w, h = w+2*stacked, h+2*stacked
	case outlineStadium:
		w += h / 2
		return layered.Box{W: w, H: h, Ports: w - h}
	case outlineBox:
	}
	return layered.Box{W: w, H: h, Ports: w - 2*padX}
}

// svg draws the outline in its room.
func (o outline) svg(at layered.Point, box layered.Box) string {
	x, y, w, h := at.X, at.Y, box.W, box.H
	right, bottom := x+w, y+h
	switch o {
	case outlineStart, outlineCircle:
		return ellipse(x+w/2, y+h/2, w/2, h/2)
	case outlineEnd:
		return ellipse(x+w/2, y+h/2, w/2, h/2) + ellipse(x+w/2, y+h/2, w/2-doubled, h/2-doubled)
	case outlineStadium:
		return rect(x, y, w, h, h/2)
	case outlineDiamond:
		return polygon(x, y+h/2, x+w/2, y, right, y+h/2, x+w/2, bottom)
	case outlineHexagon:
		return polygon(x, y+h/2, x+slant, y, right-slant, y, right, y+h/2, right-slant, bottom, x+slant, bottom)
	case outlineParallelogram:
		return polygon(x+slant, y, right, y, right-slant, bottom, x, bottom)
	case outlineTrapezoid:
		return polygon(x, y, right, y, right-slant, bottom, x+slant, bottom)
	case outlineStack:
		const most = 2 * stacked
		return rect(x+most, y, w-most, h-most, 5) + rect(x+stacked, y+stacked, w-most, h-most, 5) + rect(x, y+most, w-most, h-most, 5)
	case outlineBars:
		return rect(x, y, w, h, 0) + fmt.Sprintf(`<path d="M%d,%d V%d M%d,%d V%d"/>`, x+barInset, y, bottom, right-barInset, y, bottom)
	case outlineBox:
	}
	return rect(x, y, w, h, 5)
}

func rect(x, y, w, h, radius int) string {
	return fmt.Sprintf(`<rect x="%d" y="%d" width="%d" height="%d" rx="%d"/>`, x, y, w, h, radius)
}

func ellipse(x, y, rx, ry int) string {
	return fmt.Sprintf(`<ellipse cx="%d" cy="%d" rx="%d" ry="%d"/>`, x, y, rx, ry)
}

func polygon(coordinates ...int) string {
	points := make([]string, 0, len(coordinates)/2)
	for i := 0; i < len(coordinates); i += 2 {
		points = append(points, fmt.Sprintf("%d,%d", coordinates[i], coordinates[i+1]))
	}
	return `<polygon points="` + strings.Join(points, " ") + `"/>`
}

// meet moves the end of an arrow from the room of the vertex to its outline.
func (v *vertex) meet(p *layered.Point, at layered.Point, box layered.Box) {
	aside, above := abs(p.X-at.X-box.W/2), abs(p.Y-at.Y-box.H/2)
	onSide := p.X == at.X+box.W && above < box.H/2
	inset := 0
	switch v.outline {
	case outlineDiamond:
		inset = box.H * aside / box.W
		if onSide {
			inset = box.W * above / box.H
		}
	case outlineEnd: // a circle, near its top: half the square of the distance by the radius
		inset = aside * aside * 9 / 8 / box.H
	case outlineHexagon, outlineParallelogram, outlineTrapezoid:
		if onSide {
			inset = slant / 2
		}
	case outlineStart, outlineStadium, outlineBox, outlineBars, outlineStack, outlineCircle:
	}
	switch {
	case onSide:
		p.X -= inset
	case p.Y == at.Y:
		p.Y += inset
	default:
		p.Y -= inset
	}
}

func abs(n int) int { return max(n, -n) }
