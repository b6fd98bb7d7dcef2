// A worker by go-redis: go run . PORT
package main

import (
	"context"
	"log"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

func main() {
	ctx := context.Background()
	db := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + os.Args[1], ReadTimeout: 30 * time.Second})
	for {
		taken, err := db.Do(ctx, "Q.GET", "LEASE", 60000, "BLOCK", 20000, "WORKER", "go", "QUEUES", "{jobs}").Slice()
		if err == redis.Nil {
			continue
		} else if err != nil {
			log.Fatal(err)
		}
		for _, message := range taken {
			message := message.([]any)
			queue, token, body := message[0], message[1], message[2].(string)
			// The result is there if and only if the message is gone. What fails here comes again when its lease ends.
			_, err := db.TxPipelined(ctx, func(tx redis.Pipeliner) error {
				tx.HSet(ctx, "{jobs}:results", body, strings.ToUpper(body))
				return tx.Do(ctx, "Q.ACK", queue, token).Err()
			})
			if err != nil {
				log.Print(err)
			}
		}
	}
}
