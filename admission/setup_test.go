package admission_test

import "time"

// noon is when every test begins.
var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)
