// A service of plain texts, without a proto file: one method of each of gRPC's four kinds.
const text = {
  requestSerialize: (value) => Buffer.from(value),
  requestDeserialize: (bytes) => bytes.toString(),
  responseSerialize: (value) => Buffer.from(value),
  responseDeserialize: (bytes) => bytes.toString(),
};

const method = (name, requestStream, responseStream) => ({
  path: `/test.Texts/${name}`,
  requestStream,
  responseStream,
  ...text,
});

export const definition = {
  unary: method("unary", false, false),
  collect: method("collect", true, false),
  list: method("list", false, true),
  chat: method("chat", true, true),
};
