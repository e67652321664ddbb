// Reads partition 0 of a topic from its beginning with segmentio/kafka-go until `wanted` records or `seconds` have
// passed; prints their offsets.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
)

func main() {
	wanted, _ := strconv.Atoi(os.Args[3])
	seconds, _ := strconv.Atoi(os.Args[4])
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: strings.Split(os.Args[1], ","), Topic: os.Args[2], Partition: 0, MaxWait: 200 * time.Millisecond,
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(seconds)*time.Second)
	defer cancel()
	offsets := []int64{}
	for len(offsets) < wanted {
		message, err := reader.ReadMessage(ctx)
		if err != nil {
			break
		}
		offsets = append(offsets, message.Offset)
	}
	text, _ := json.Marshal(offsets)
	fmt.Println(string(text))
}
