module orders

go 1.21
