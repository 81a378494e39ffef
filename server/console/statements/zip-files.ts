import { promisify } from 'node:util';
import { crc32, deflateRaw } from 'node:zlib';
import { Zip, type ZipInputFile } from 'fflate';

const deflate = promisify(deflateRaw);
const DEFLATED = 8;

export interface ZipFile {
  add(name: string, text: string): Promise<void>;
  /** Ends it; nothing can be added afterwards. */
  end(): Buffer;
}

/** A ZIP file in memory. Compresses beside the event loop, which also trades. */
export function createZip(): ZipFile {
  const chunks: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    chunks.push(chunk);
  });
  return {
    async add(filename, text) {
      const bytes = Buffer.from(text);
      const compressed = await deflate(bytes);
      const file: ZipInputFile = {
        filename,
        size: bytes.length,
        crc: crc32(bytes),
        compression: DEFLATED,
      };
      zip.add(file);
      file.ondata?.(null, compressed, true);
    },
    end() {
      zip.end();
      return Buffer.concat(chunks);
    },
  };
}
