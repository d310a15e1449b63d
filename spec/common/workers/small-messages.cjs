// The messages of a worker process, without long parts: the length and the kind of a frame, then its value.
const { Socket } = require('node:net');
const { deserialize, serialize } = require('node:v8');

const HEADER_BYTES = 5;

/** Returns a function that sends a message; calls another one with each request. */
exports.connect = (onRequest) => {
  const socket = new Socket({ fd: Number(process.argv[2]) });
  socket.on('data', (frame) => onRequest(deserialize(frame.subarray(HEADER_BYTES)).body));
  socket.on('close', () => process.exit());
  return (head, body) => {
    const payload = serialize({ head, body, parts: [] });
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt32LE(payload.length);
    socket.write(Buffer.concat([header, payload]));
  };
};
