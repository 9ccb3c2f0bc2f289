// The trivial server for the load engine: one fixed answer for each request, no parser. Prints its port.
import net from "node:net";

const ANSWER = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok";
const CLOSING = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok";
const closing = process.argv.includes("--close");

const server = net.createServer({ noDelay: true }, (socket) => {
  // One request is one packet here: whoever asks writes it at once, and waits for the answer.
  socket.on("data", () => (closing ? socket.end(CLOSING, "latin1") : socket.write(ANSWER, "latin1")));
  socket.on("error", () => socket.destroy());
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () => console.log(server.address().port));
process.on("disconnect", () => process.exit(0));
process.stdin.on("end", () => process.exit(0)).resume();
