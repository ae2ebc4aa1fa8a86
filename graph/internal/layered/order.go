package layered

import (
	"cmp"
	"slices"
)

// sweeps is how often the layers are ordered, down and up in turn.
const sweeps = 24

// arrange orders each layer so that few arrows cross.
func (s *sheet) arrange() {
	s.fill()
	best, least := s.order(), s.crossings()
	for i := 0; i < sweeps && least > 0; i++ {
		s.sweep(i%2 == 0)
		if n := s.crossings(); n < least {
			best, least = s.order(), n
		}
	}
	s.layers = best
	s.number()
}

// fill lists the vertices of each layer as a walk from the top meets them.
func (s *sheet) fill() {
	deepest := 0
	for i := range s.vertices {
		deepest = max(deepest, s.vertices[i].layer)
	}
	s.layers = make([][]int, deepest+1)
	seen := make([]bool, len(s.vertices))
	var walk func(v int)
	walk = func(v int) {
		seen[v] = true
		layer := s.vertices[v].layer
		s.layers[layer] = append(s.layers[layer], v)
		for _, below := range s.vertices[v].down {
			if !seen[below] {
				walk(below)
			}
		}
	}
	for v := range s.vertices {
		if !seen[v] && len(s.vertices[v].up) == 0 {
			walk(v)
		}
	}
	s.number()
}

// number tells each vertex its place in its layer.
func (s *sheet) number() {
	for _, layer := range s.layers {
		for place, v := range layer {
			s.vertices[v].place = place
		}
	}
}

// order is a copy of the layers.
func (s *sheet) order() [][]int {
	layers := make([][]int, len(s.layers))
	for i, layer := range s.layers {
		layers[i] = slices.Clone(layer)
	}
	return layers
}

// sweep orders the layers one after the other by the mean place of the
// neighbours in the one before.
func (s *sheet) sweep(down bool) {
	for i := range s.layers {
		layer := s.layers[i]
		if !down {
			layer = s.layers[len(s.layers)-1-i]
		}
		means := make([]float64, len(s.vertices))
		for _, v := range layer {
			means[v] = s.mean(v, down)
		}
		slices.SortStableFunc(layer, func(a, b int) int { return cmp.Compare(means[a], means[b]) })
		for place, v := range layer {
			s.vertices[v].place = place
		}
	}
}

// mean is the mean place of the neighbours above or below; without any, the
// vertex's own.
func (s *sheet) mean(v int, above bool) float64 {
	neighbours := s.vertices[v].down
	if above {
		neighbours = s.vertices[v].up
	}
	if len(neighbours) == 0 {
		return float64(s.vertices[v].place)
	}
	sum := 0
	for _, n := range neighbours {
		sum += s.vertices[n].place
	}
	return float64(sum) / float64(len(neighbours))
}

// crossings counts the arrows that cross between layers.
func (s *sheet) crossings() int {
	total := 0
	for i := 1; i < len(s.layers); i++ {
		total += s.crossingsBelow(s.layers[i-1], len(s.layers[i]))
	}
	return total
}

// crossingsBelow counts pairs of arrows whose upper ends are in one order and
// whose lower ends are in the other, with a tree of counts over the lower
// layer.
func (s *sheet) crossingsBelow(layer []int, width int) int {
	counts := make([]int, width+1)
	total, seen := 0, 0
	for _, v := range layer {
		places := make([]int, 0, len(s.vertices[v].down))
		for _, below := range s.vertices[v].down {
			places = append(places, s.vertices[below].place)
		}
		slices.Sort(places)
		for _, place := range places {
			notRight := 0
			for i := place + 1; i > 0; i -= i & -i {
				notRight += counts[i]
			}
			total += seen - notRight
		}
		for _, place := range places {
			for i := place + 1; i <= width; i += i & -i {
				counts[i]++
			}
		}
		seen += len(places)
	}
	return total
}
