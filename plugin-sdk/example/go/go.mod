module urls

go 1.20
