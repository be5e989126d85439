module github.com/robotsgate/robotsgate/benchmarks

go 1.26.0

require github.com/robotsgate/robotsgate v0.0.0

replace github.com/robotsgate/robotsgate => ../
