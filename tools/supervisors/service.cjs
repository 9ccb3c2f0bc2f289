// A service that knows nothing of the library: / answers at once, /slow after a second and a half.
const { createServer } = require("node:http");

createServer((req, res) => {
  setTimeout(() => res.end("Hello World"), req.url === "/slow" ? 1500 : 0);
}).listen(Number(process.env.PORT), "127.0.0.1");
