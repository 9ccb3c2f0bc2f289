// The core routes of examples/orders in Go's net/http: GET /work, POST /orders, GET /ready. Orders go into a file.
// DRAIN_DELAY=2.5s keeps serving after SIGTERM; without it the listener closes at once, as Shutdown does.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var stopping atomic.Bool
var writing sync.Mutex

func sleep(seconds float64) { time.Sleep(time.Duration(seconds * float64(time.Second))) }

func answer(w http.ResponseWriter, status int, body map[string]any) {
	if stopping.Load() {
		w.Header().Set("connection", "close")
	}
	body["pid"] = os.Getpid()
	w.Header().Set("content-type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}

func store(id string) error {
	writing.Lock()
	defer writing.Unlock()
	file, err := os.OpenFile(os.Getenv("EXECUTED"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err = fmt.Fprintln(file, id); err != nil {
		return err
	}
	return file.Sync()
}

func main() {
	delay, _ := time.ParseDuration(os.Getenv("DRAIN_DELAY"))
	mux := http.NewServeMux()
	mux.HandleFunc("/ready", func(w http.ResponseWriter, _ *http.Request) {
		if stopping.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("/work", func(w http.ResponseWriter, r *http.Request) {
		seconds, _ := strconv.ParseFloat(r.URL.Query().Get("seconds"), 64)
		sleep(seconds)
		answer(w, http.StatusOK, map[string]any{})
	})
	mux.HandleFunc("/orders", func(w http.ResponseWriter, r *http.Request) {
		var order struct {
			ID   string  `json:"id"`
			Work float64 `json:"work"`
		}
		if err := json.NewDecoder(r.Body).Decode(&order); err != nil || order.ID == "" {
			answer(w, http.StatusBadRequest, map[string]any{"error": "no order"})
			return
		}
		sleep(order.Work)
		if err := store(order.ID); err != nil {
			answer(w, http.StatusInternalServerError, map[string]any{"error": err.Error()})
			return
		}
		answer(w, http.StatusCreated, map[string]any{"id": order.ID})
	})
	server := &http.Server{Addr: "127.0.0.1:" + os.Getenv("PORT"), Handler: mux}
	done := make(chan struct{})
	go func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		<-signals
		stopping.Store(true)
		time.Sleep(delay)
		server.Shutdown(context.Background())
		close(done)
	}()
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		log.Fatal(err)
	}
	// ListenAndServe returns when Shutdown begins; main must outlive it.
	<-done
}
