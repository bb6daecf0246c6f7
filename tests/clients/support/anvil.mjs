// Starts anvil, for comparison and forks.
import { spawn } from 'node:child_process';
import { tool } from './tool.mjs';

export async function startAnvil(...args) {
    const child = spawn(tool('anvil'), ['--port', '0', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => child.once('close', resolve));
    const rpc = await new Promise((resolve, reject) => {
        let text = '';
        child.once('error', reject);
        ended.then(() => reject(new Error(`anvil exited: ${text}`)));
        child.stdout.on('data', (more) => {
            text += more;
            const found = text.match(/Listening on ([\d.:]+)/);
            if (found) resolve(`http://${found[1]}`);
        });
    });
    return { rpc, stop: () => (child.kill(), ended) };
}
