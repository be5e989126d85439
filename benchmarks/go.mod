module github.com/robotsgate/robotsgate/benchmarks

go 1.26.0

require (
	github.com/jimsmart/grobotstxt v1.0.3
	github.com/robotsgate/robotsgate v0.0.0
	github.com/temoto/robotstxt v1.1.2
)

replace github.com/robotsgate/robotsgate => ../
